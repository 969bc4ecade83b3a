import { isLoopback, isPrivate } from '../../domain/loopback';

test.each([
  ['localhost', true],
  ['LOCALHOST', true],
  ['127.0.0.1', true],
  ['127.8.0.250', true],
  ['::1', true],
  ['[::1]', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.7', false],
  ['127.internal', false],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example', false],
])('%s is this machine, or it is not', (host, isHere) => expect(isLoopback(host)).toBe(isHere));

test.each([
  ['https://login.example.com/realm', true],
  ['http://localhost:8080', true],
  ['http://127.0.0.1/', true],
  ['http://[::1]:8080', true],
  ['http://login.example.com', false],
  ['http://localhost.evil.example', false],
])('a request to %s stays on the machine, or it may not', (url, isIt) => expect(isPrivate(url)).toBe(isIt));
