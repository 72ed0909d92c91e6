// SPDX-License-Identifier: MIT
// One request by Go's own resolver and TLS.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	response, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	body, _ := io.ReadAll(response.Body)
	fmt.Print(string(body))
}
