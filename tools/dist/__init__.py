"""Makes what is handed out: wheels, source distributions, the npm package, the bill of materials and checksums."""
