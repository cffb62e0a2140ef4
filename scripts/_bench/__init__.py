"""The parts of `scripts/bench`: sites, pages, systems, rows, measuring, and the report."""
