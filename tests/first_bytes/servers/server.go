// SPDX-License-Identifier: MIT
// Go's servers: HTTP, and TLS that chooses a certificate by name. They answer with the name that they saw, as [[NAME]].
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func main() {
	folder := os.Args[1]
	certificates := map[string]*tls.Certificate{}
	for _, name := range []string{"default", "good.test", "evil.test"} {
		pair, problem := tls.LoadX509KeyPair(folder+"/"+name+".pem", folder+"/"+name+".pem")
		if problem != nil {
			panic(problem)
		}
		certificates[name] = &pair
	}
	choose := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if found, ok := certificates[hello.ServerName]; ok {
			return found, nil
		}
		return certificates["default"], nil
	}
	listener, problem := net.Listen("tcp", os.Args[2]+":"+os.Args[4])
	if problem != nil {
		panic(problem)
	}
	go func() {
		for {
			connection, problem := listener.Accept()
			if problem != nil {
				return
			}
			go func() {
				tls.Server(connection, &tls.Config{GetCertificate: choose, MinVersion: tls.VersionTLS10}).Handshake()
				connection.Close()
			}()
		}
	}()
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		fmt.Fprintf(answer, "[[%s]][[%s]]", request.Host, request.URL.Host)
	})
	panic(http.ListenAndServe(os.Args[2]+":"+os.Args[3], nil))
}
