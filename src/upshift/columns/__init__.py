"""What the user passes -> columns of lanes; results of lanes -> what the user gets back."""
