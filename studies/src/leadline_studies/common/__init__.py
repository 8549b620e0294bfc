"""Figures, Markdown and measurements that several studies share."""
