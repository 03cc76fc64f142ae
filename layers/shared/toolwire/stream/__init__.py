"""Verbs over the neutral events: their legal order, the accumulator, the fold, and one part at a time."""
