"""What a posterior says of outcomes."""
