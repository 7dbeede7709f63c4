import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Some clients offer another protocol with every request, HTTP/2 most of all, and go on without it when nobody takes the
 * offer up. A server that listens for upgrades is handed all of them, so those for anything but a WebSocket are handed
 * back: the request is put in front of what comes next, without the offer, and read as any other.
 */
export function isWebSocket(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket';
}

export function asOrdinary(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index] ?? '';
    if (!OFFER.has(name.toLowerCase())) lines.push(`${name}: ${request.rawHeaders[index + 1]}`);
  }
  // Header fields are bytes, which Node reads one a character.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

const OFFER = new Set(['upgrade', 'connection', 'http2-settings']);
