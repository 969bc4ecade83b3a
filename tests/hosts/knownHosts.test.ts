import { createHmac } from 'node:crypto';
import { computeFingerprint, findHostKeys } from '../../push-types/hosts/knownHosts';
import { parseFacts } from '../../push-types/hosts/hostScript';
import { explainNotServing, isServing } from '../../push-types/hosts/hostPlan';
import { quoteArguments } from '../../push-types/hosts/port';

const KEY = Buffer.from('a key').toString('base64');
const OTHER = Buffer.from('another').toString('base64');
const hash = (host: string): string => {
  const salt = Buffer.from('01234567890123456789');
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(host).digest('base64')}`;
};
const find = (text: string, host = 'web.example', port = 22): string[] =>
  findHostKeys(text, host, port).map(({ key }) => key.toString());

test.each([
  ['by its name', `web.example ssh-ed25519 ${KEY}`, ['a key']],
  ['among several names', `10.0.0.1,web.example ssh-ed25519 ${KEY} a comment`, ['a key']],
  ['by a hashed name', `${hash('web.example')} ssh-ed25519 ${KEY}`, ['a key']],
  ['by a pattern', `*.example ssh-ed25519 ${KEY}`, ['a key']],
  ['but not if a pattern excludes it', `*.example,!web.example ssh-ed25519 ${KEY}`, []],
  ['but not under another name', `webxexample,${hash('other')} ssh-ed25519 ${KEY}`, []],
  [
    'but not a revoked key',
    `web.example ssh-ed25519 ${KEY}\n@revoked * ssh-ed25519 ${KEY}\nweb.example ssh-rsa ${OTHER}`,
    ['another'],
  ],
  ['but not by an authority for certificates', `@cert-authority * ssh-ed25519 ${KEY}`, []],
  ['but not for another port', `[web.example]:2222 ssh-ed25519 ${KEY}`, []],
])('a host is found in known_hosts %s', (_, text, keys) => expect(find(`# comment\n\n${text}\n`)).toEqual(keys));

test('a host on another port is found under that port', () => {
  expect(find(`[web.example]:2222 ssh-ed25519 ${KEY}`, 'web.example', 2222)).toEqual(['a key']);
});

test('a fingerprint is that of ssh-keygen', () => {
  expect(computeFingerprint(Buffer.from('a key'))).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
});

test('arguments are single words for a shell, whatever is in them', () => {
  expect(quoteArguments(['sh', `a'b; $(rm -rf /) \`id\` "x"`])).toBe(`'sh' 'a'\\''b; $(rm -rf /) \`id\` "x"'`);
  for (const bad of ['a\nb', 'a\0b', 'a\rb']) expect(() => quoteArguments([bad])).toThrow('line break or NUL');
  expect(() => quoteArguments(['x'.repeat(9000)])).toThrow('more than 8192');
});

describe('the answer of a host', () => {
  const look = (answer: string, more = ''): string =>
    `current=v2\nActiveState=active\nSubState=running\nInvocationID=${'a'.repeat(32)}\nanswer=${Buffer.from(answer).toString('base64')}\n${more}`;

  test.each([
    ['the version as text', 'v2\n200', true],
    ['JSON with the version', '{"version":"v2"}\n200', true],
    ['another version', '{"version":"v1"}\n200', false],
    ['a text that contains the version', 'this is v2\n200', false],
    ['the version with an error', 'v2\n503', false],
    ['nothing', '\n000', false],
    ['null', 'null\n200', false],
  ])('is live by the health URL only with %s', (_, answer, expected) => {
    const facts = parseFacts(look(answer));
    expect(isServing(facts, 'v2')).toBe(expected);
    if (!expected) expect(explainNotServing(facts, 'v2')).toMatch(/^the health URL answers/);
  });

  test.each(['', 'nonsense', 'ActiveState=active', `stamp={"version":1}\ncurrent=v2`])(
    'that is cut or malformed is never live: %s',
    (output) => {
      expect(isServing(parseFacts(output), 'v2')).toBe(false);
      expect(parseFacts(output)).toMatchObject({ stamp: null, invocation: '' });
    },
  );
});
