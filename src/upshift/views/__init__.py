"""What is known of a call, as plain data, in; text, HTML, JSON and figures for people out."""
