"""What measures warpquad, by time and beside other packages."""
