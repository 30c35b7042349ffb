// Replaced by the first shared helper.
