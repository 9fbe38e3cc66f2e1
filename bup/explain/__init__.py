"""Why a model says what it says of a node, and which nodes it should doubt."""
