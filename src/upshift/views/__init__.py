"""Reports for people: text, HTML, JSON and figures, made from plain data."""
