"""`python -m leadline` is `leadline`."""

from leadline.commands import main

main()
