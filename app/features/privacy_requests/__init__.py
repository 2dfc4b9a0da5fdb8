"""People prove their mailbox by a code, and see, correct and erase what is stored about them."""
