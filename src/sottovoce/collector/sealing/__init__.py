"""Messages that devices have sealed to the collector: its private keys, and opening many messages at once."""
