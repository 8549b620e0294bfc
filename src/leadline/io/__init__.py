"""Read, check and write runs, judgments, texts, pools and results."""
