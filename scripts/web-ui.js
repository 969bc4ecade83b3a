// A guard in front of the Web UI of Temporal's development server, which answers under any host name: a page in a browser on this machine could read
// and command everything once its own name resolves to 127.0.0.1. temporal-dev.sh starts the guard, and it ends with the server: `node
// scripts/web-ui.js PORT HOST:PORT` forwards requests from PORT to HOST:PORT until its input ends.
'use strict';

const http = require('node:http');

const LISTEN = '127.0.0.1';
/** No page can make these resolve to another address; browsers resolve each name below `localhost` to this machine. */
const LOCAL_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|.+\.localhost)$/i;

/** Why a request is not forwarded; undefined if it is. A port may be forwarded here from another one. */
function whyRefused({ method, headers }, port) {
  const { host = '', origin } = headers;
  const at = `http://localhost:${port}`;
  if (!LOCAL_NAME.test(host.replace(/:\d+$/, '')))
    return `The Web UI answers only at ${at}, and this request names another host. Open ${at}.`;
  const isRead = method === 'GET' || method === 'HEAD';
  const isForeign = origin === undefined ? isFromElsewhere(headers) : origin !== `http://${host}`;
  if (!isRead && isForeign)
    return `The Web UI takes changes only from its own page, and this is another one. Open ${at}.`;
  return undefined;
}

/** Programs do not send this header, and browsers send the origin with nearly every request that changes something. */
const isFromElsewhere = ({ 'sec-fetch-site': site = 'none' }) => site !== 'none' && site !== 'same-origin';

/** @param to the address of the Web UI, with `hostname` and `port` */
function createGuard(port, to) {
  const agent = new http.Agent({ keepAlive: true });
  return http.createServer((request, response) => {
    const why = whyRefused(request, port);
    if (why !== undefined) return say(response, 403, why);
    const { method, url: path, headers } = request;
    const passed = http.request({ ...to, agent, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    passed.on('error', ({ message }) => {
      if (response.headersSent) response.destroy();
      else say(response, 502, `The Web UI does not answer: ${message}. Look whether the Temporal server still runs.`);
    });
    // The browser has stopped waiting.
    response.on('close', () => response.writableFinished || passed.destroy());
    request.pipe(passed);
  });
}

function say(response, status, text) {
  // The guard reads no refused request to its end.
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  };
  response.writeHead(status, headers).end(`${text}\n`);
}

function main([port, to = '']) {
  const [hostname, itsPort] = to.split(':');
  const guard = createGuard(Number(port), { hostname, port: Number(itsPort) });
  guard.on('error', ({ message }) => {
    process.stderr.write(`error: nothing stands in front of the Web UI: ${message}\n`);
    process.exit(1);
  });
  guard.listen(Number(port), LISTEN);
  // Even after kill −9 the server no longer keeps the other end open.
  process.stdin.on('error', () => process.exit(0)).on('close', () => process.exit(0));
  process.stdin.resume();
}

if (require.main === module) main(process.argv.slice(2));

module.exports = { createGuard, whyRefused };
