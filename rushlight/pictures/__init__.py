"""Pictures of programs: graphs as plain data, laid out, as a page, as SVG and as DOT."""
