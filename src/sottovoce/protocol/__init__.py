"""Every JSON body of the service as a type, once: collector, relay, device, analyst and the TypeScript types use it."""
