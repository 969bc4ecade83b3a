import fc from 'fast-check';
import { SESSION_LIMITS } from '../../../domain/limits';
import { toLocalPath } from '../../../domain/sessions/localPath';

test.each([
  '/',
  '/pipelines',
  '/releases/kvstore/12?tab=log#end',
  '/where?revision=a%2Fb',
  '/sign-ins',
  '/a//b',
  `/${'x'.repeat(SESSION_LIMITS.to.max - 1)}`,
])('a sign-in leads back to %s', (path) => expect(toLocalPath(path)).toBe(path));

test.each([
  ...[
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/.//evil.example',
    '/..//evil.example',
  ],
  ...['https://evil.example', 'javascript:alert(1)', 'evil.example', '', '/\t/evil.example', '/\n/evil.example', '/ü'],
  ...[
    '/sign-in',
    '/sign-in?to=/sign-in',
    '/sign-in/callback',
    '/sign-out',
    '/sign-out/everywhere',
    `/${'x'.repeat(1_000)}`,
  ],
])('a sign-in leads to / instead of %j', (path) => expect(toLocalPath(path)).toBe('/'));

test('no text leads to another origin', () => {
  const parts = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '@',
    ':',
    '%2f',
    '%5c',
    '\t',
    '\n',
    ' ',
    'evil.example',
    '?',
    '#',
    'a',
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), (all) => {
      const { origin } = new URL(toLocalPath(all.join('')), 'https://conveyor.example.com');
      expect(origin).toBe('https://conveyor.example.com');
    }),
  );
});
