"""The text of a formula: R's words and operators over patsy's grammar."""
