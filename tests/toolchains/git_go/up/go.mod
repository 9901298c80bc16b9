module example.org/up.git
