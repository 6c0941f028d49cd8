"""The sealed file: its layout and schema, what it holds, the table that it is to a fit."""
