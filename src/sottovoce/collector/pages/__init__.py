"""The built pages, as they are served; their sources are in clients/pages."""
