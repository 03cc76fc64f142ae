"""Where ids and state are kept between turns."""
