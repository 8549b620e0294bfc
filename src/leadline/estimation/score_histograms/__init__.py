"""HSA and DO from histograms of scores."""
