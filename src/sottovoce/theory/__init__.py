"""What can be proved: bounds, one function a theorem, and the planner that uses them."""
