"""HTTP: routes, requests, responses, the OpenAPI document, the server."""
