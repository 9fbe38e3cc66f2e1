"""What one browser session looks at: run, node, view, and the URL that holds them."""
