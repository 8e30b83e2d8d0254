"""Data sets: games that policies play, as Minari keeps them."""
