import { withoutScope } from '../../settings/access';
import { parseRegistry } from '../../settings/registry';

/** Long enough to be one. */
const secret = (name: string): string => `${name}-`.padEnd(24, 'x');
const [G, A, B] = [secret('g'), secret('a'), secret('b')];

const access = (value: object, env: Record<string, string> = {}) => parseRegistry(value, env).access;

describe('who may come in through the HTTP front end', () => {
  test('a token acts as the principal that the file names, with the secret of the variable that it names', () => {
    const tokens = [{ principal: 'service:ci', tokenEnv: 'CI' }];
    expect(access({ tokens }, { CI: secret('ci') })).toMatchObject({
      tokens: [{ principal: 'service:ci', token: secret('ci') }],
      unset: [],
    });
  });

  test('a secret may stand in several variables, so that a new one works before the old one goes', () => {
    const webhooks = { github: { secretEnv: 'G' }, standard: { secretEnv: ['A', 'B'], actor: 'service:builds' } };
    const scope = null;
    expect(access({ webhooks }, { G, A, B }).webhooks).toEqual({
      github: [{ name: 'github', actor: 'service:github', secretEnvs: ['G'], secrets: [G], scope }],
      standard: [{ name: 'standard', actor: 'service:builds', secretEnvs: ['A', 'B'], secrets: [A, B], scope }],
    });
  });

  test.each([
    ['is not set', {}],
    ['is empty', { CI: '', A: '', B: '' }],
  ])('a variable that %s opens no door, is named, and stops nothing', (_how, env) => {
    const value = {
      tokens: [{ principal: 'service:ci', tokenEnv: 'CI' }],
      webhooks: { standard: { secretEnv: ['A', 'B'] } },
    };
    expect(access(value, env)).toEqual({
      tokens: [],
      reads: null,
      webhooks: {
        github: [],
        standard: [{ name: 'standard', actor: 'service:webhook', secretEnvs: ['A', 'B'], secrets: [], scope: null }],
      },
      pagers: {},
      unset: ['CI', 'A', 'B'],
    });
  });

  test('a token may stand in several variables, so that a new one works before the old one goes', () => {
    const tokens = [{ principal: 'service:ci', tokenEnv: ['A', 'B', 'C'] }];
    expect(access({ tokens }, { A, B })).toMatchObject({
      tokens: [
        { principal: 'service:ci', token: A },
        { principal: 'service:ci', token: B },
      ],
      unset: ['C'],
    });
    expect(access({ tokens }, { A, B: A }).tokens).toHaveLength(2);
  });

  const token = (principal: string, tokenEnv: string) => ({ principal, tokenEnv });
  test.each<[what: string, value: object, message: RegExp]>([
    ['a token of one character', { tokens: [token('service:ci', 'SHORT')] }, /SHORT holds 1 bytes.* 24 at least/],
    ['a secret that others guess', { webhooks: { github: { secretEnv: 'SHORT' } } }, /SHORT holds 1 bytes/],
    [
      'a secret of few bytes, however it is written',
      { webhooks: { standard: { secretEnv: 'WHSEC' } } },
      /holds 20 bytes/,
    ],
    ['a callback secret that others guess', { callbacks: { url: 'http://a', secretEnv: 'SHORT' } }, /SHORT holds 1/],
    [
      'a token of two',
      { tokens: [token('service:ci', 'A'), token('user:alice', 'SAME')] },
      /A and SAME hold the same secret/,
    ],
    ['one variable for two', { tokens: [token('service:ci', 'A'), token('user:alice', 'A')] }, /A is listed twice/],
    [
      'a token that signs webhooks',
      { tokens: [token('service:ci', 'A')], webhooks: { github: { secretEnv: 'SAME' } } },
      /A and SAME hold/,
    ],
    ['a group as who acts', { tokens: [token('group:storage', 'A')] }, /tokens\.0\.principal: a group does not act/],
    [
      'a group that delivers',
      { webhooks: { standard: { secretEnv: 'A', actor: 'group:storage' } } },
      /webhooks\.standard\.actor: a group does not act/,
    ],
  ])('%s is refused', (_what, value, message) => {
    const env = { A, SAME: A, SHORT: 'x', WHSEC: `whsec_${Buffer.alloc(20, 'x').toString('base64')}` };
    expect(() => access(value, env)).toThrow(message);
  });

  test('sources of webhooks have names, secrets of their own, and a list of what they may say', () => {
    const webhooks = {
      github: [{ name: 'acme', secretEnv: 'G', repositories: ['acme/*'] }],
      standard: [
        { name: 'builds', secretEnv: 'A', finders: ['latest-build'], with: { target: '//kv:*' } },
        { name: 'models', secretEnv: 'B', actor: 'service:ml', pipelines: ['ranking'] },
      ],
    };
    const { github, standard } = access({ webhooks }, { A }).webhooks;
    expect(github).toMatchObject([
      { name: 'acme', actor: 'service:acme', scope: { finders: ['commits'], pipelines: [], repositories: ['acme/*'] } },
    ]);
    expect(standard).toEqual([
      {
        ...{ name: 'builds', actor: 'service:builds', secretEnvs: ['A'], secrets: [A] },
        scope: { finders: ['latest-build'], pipelines: [], with: { target: ['//kv:*'] } },
      },
      {
        ...{ name: 'models', actor: 'service:ml', secretEnvs: ['B'], secrets: [] },
        scope: { finders: [], pipelines: ['ranking'] },
      },
    ]);
  });

  test('an open door without a scope is named', () => {
    const webhooks = { github: { secretEnv: 'G' }, standard: [{ name: 'builds', secretEnv: 'A' }] };
    expect(withoutScope(access({ webhooks }, { G, A }))).toEqual(['webhooks.github', 'webhooks.standard (builds)']);
    expect(withoutScope(access({ webhooks }, {}))).toEqual([]);
  });

  test('readers need a token if the file says so', () => {
    expect([access({}).reads, access({ reads: 'open' }).reads]).toEqual([null, 'open']);
    expect(access({ reads: 'authenticated' }).reads).toBe('authenticated');
  });

  test.each([
    ['a way to read that there is not', { reads: 'sometimes' }, /reads: expected open or authenticated/],
    ['a token in the file itself', { tokens: [{ principal: 'service:ci', token: 'secret' }] }, /tokens\.0/],
    [
      'a name that is not a principal',
      { tokens: [{ principal: 'ci', tokenEnv: 'CI' }] },
      /expected a principal such as service:ci/,
    ],
    ['a list of no variables', { webhooks: { standard: { secretEnv: [] } } }, /webhooks\.standard\.secretEnv/],
    [
      'a source among several without a name',
      { webhooks: { standard: [{ secretEnv: 'A' }] } },
      /webhooks\.standard\.0\.name/,
    ],
    [
      'a repository that is not a full name',
      { webhooks: { github: { secretEnv: 'G', repositories: ['app'] } } },
      /repositories\.0: expected the full name of a repository/,
    ],
    ['what a push does not have', { webhooks: { github: { secretEnv: 'G', finders: ['commits'] } } }, /finders/],
    ['an unknown kind of webhook', { webhooks: { gitlab: { secretEnv: 'G' } } }, /webhooks: .*gitlab/],
  ])('%s is refused with its path', (_what, value, message) => expect(() => access(value)).toThrow(message));
});
