"""The interfaces that libraries see: Gymnasium's and PettingZoo's."""
