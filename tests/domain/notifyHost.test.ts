import { isAllowedHost } from '../../domain/notifyHost';

test.each<[host: string, allow: string[] | null, may: boolean]>([
  ['hooks.example.org', null, true],
  ['hooks.example.org', [], false],
  ['hooks.example.org', ['hooks.example.org'], true],
  ['Hooks.Example.org.', ['hooks.example.ORG'], true],
  ['a.b.example.org', ['*.example.org'], true],
  ['example.org', ['*.example.org'], false],
  ['example.org.evil.net', ['*.example.org', 'example.org'], false],
  ['evilexample.org', ['*.example.org'], false],
  ['[fd12::1]', ['[fd12::*]'], true],
])('to %s with egress to %j: %s', (host, allow, may) => expect(isAllowedHost(host, allow)).toBe(may));
