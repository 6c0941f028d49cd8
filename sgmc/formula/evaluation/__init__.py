"""The code in formulas: functions that it may call, and what it may do if from outside."""
