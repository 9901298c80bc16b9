package main

import (
	"fmt"

	"example.org/up.git"
)

func main() { fmt.Println(up.Version) }
