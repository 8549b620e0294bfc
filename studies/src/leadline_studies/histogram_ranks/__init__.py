"""HSA of submitted runs from scores and from ranks."""
