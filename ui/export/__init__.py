"""Pictures of trees as files: PNG, SVG and PDF, painted by what paints the canvas."""
