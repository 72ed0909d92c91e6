// SPDX-License-Identifier: MIT
// Java's own servers and Netty's: HTTP, HTTP behind a PROXY header, TLS that chooses a certificate by name. They answer with the name
// that they saw, as [[NAME]].
import com.sun.net.httpserver.HttpServer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.*;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.handler.codec.http.*;
import io.netty.handler.ssl.*;
import io.netty.util.Mapping;
import java.io.File;
import java.io.FileInputStream;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.util.HashMap;
import java.util.concurrent.Executors;
import javax.net.ssl.*;

public class Servers {
    static String address;
    static final String[] NAMES = {"default", "good.test", "evil.test"};

    static String inTarget(String target) {
        try {
            URI uri = new URI(target);
            return uri.isAbsolute() && uri.getRawAuthority() != null ? uri.getRawAuthority() : "";
        } catch (URISyntaxException problem) {
            return target.contains("://") ? target : "";
        }
    }

    static void serveHttp(int port) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(address, port), 1024);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            StringBuilder text = new StringBuilder();
            var hosts = exchange.getRequestHeaders().get("Host");
            if (hosts != null) for (String host : hosts) text.append("[[").append(host).append("]]");
            text.append("[[").append(inTarget(exchange.getRequestURI().toString())).append("]]");
            byte[] body = text.toString().getBytes(StandardCharsets.ISO_8859_1);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }

    // JSSE chooses the certificate by the server name itself.
    static void serveTls(String folder, int port) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (FileInputStream file = new FileInputStream(folder + "/all.p12")) {
            store.load(file, "secret".toCharArray());
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance("NewSunX509");
        keys.init(new KeyStoreBuilderParameters(KeyStore.Builder.newInstance(store, new KeyStore.PasswordProtection("secret".toCharArray()))));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        ServerSocket server = new ServerSocket(port, 1024, InetAddress.getByName(address));
        var threads = Executors.newCachedThreadPool();
        threads.submit(() -> {
            while (true) {
                Socket plain = server.accept();
                threads.submit(() -> {
                    try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, null, true)) {
                        socket.setUseClientMode(false);
                        socket.startHandshake();
                    } catch (Exception problem) {
                        plain.close();
                    }
                    return null;
                });
            }
        });
    }

    static class Answer extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            StringBuilder text = new StringBuilder();
            if (!request.decoderResult().isSuccess()) {
                context.close();
                return;
            }
            for (String host : request.headers().getAll("Host")) text.append("[[").append(host).append("]]");
            text.append("[[").append(inTarget(request.uri())).append("]]");
            var body = Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
            var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
            response.headers().set("Content-Length", body.readableBytes());
            context.writeAndFlush(response);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable problem) {
            context.close();
        }
    }

    static void serveNetty(NioEventLoopGroup group, int port, boolean takesProxyHeader, Mapping<String, SslContext> tls)
            throws Exception {
        new ServerBootstrap().group(group).channel(NioServerSocketChannel.class).option(ChannelOption.SO_BACKLOG, 1024)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel channel) {
                    if (tls != null) channel.pipeline().addLast(new SniHandler(tls));
                    if (takesProxyHeader) channel.pipeline().addLast(new HAProxyMessageDecoder());
                    channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 20), new Answer());
                }
            }).bind(address, port).sync();
    }

    static SslContext contextFor(String folder, String name) throws Exception {
        return SslContextBuilder.forServer(new File(folder, name + ".crt"), new File(folder, name + ".key")).sslProvider(SslProvider.JDK).build();
    }

    public static void main(String[] arguments) throws Exception {
        String folder = arguments[0];
        address = arguments[1];
        serveHttp(Integer.parseInt(arguments[2]));
        serveTls(folder, Integer.parseInt(arguments[3]));
        var group = new NioEventLoopGroup();
        serveNetty(group, Integer.parseInt(arguments[4]), false, null);
        serveNetty(group, Integer.parseInt(arguments[5]), true, null);
        var contexts = new HashMap<String, SslContext>();
        for (String name : NAMES) contexts.put(name, contextFor(folder, name));
        serveNetty(group, Integer.parseInt(arguments[6]), false, name -> contexts.getOrDefault(name, contexts.get("default")));
        Thread.currentThread().join();
    }
}
