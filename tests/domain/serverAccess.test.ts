import { parseRegistry } from '../../sdk/registry';

const access = (value: object, env: Record<string, string> = {}) => parseRegistry(value, env).access;

describe('who may come in through the HTTP front end', () => {
  test('a token acts as the principal that the file names, with the secret of the variable that it names', () => {
    const tokens = [{ principal: 'service:ci', tokenEnv: 'CI' }];
    expect(access({ tokens }, { CI: 'secret' })).toMatchObject({
      tokens: [{ principal: 'service:ci', token: 'secret' }],
      unset: [],
    });
  });

  test('a secret may stand in several variables, so that a new one works before the old one goes', () => {
    const webhooks = { github: { secretEnv: 'G' }, standard: { secretEnv: ['A', 'B'], actor: 'service:builds' } };
    expect(access({ webhooks }, { G: 'g', A: 'a', B: 'b' }).webhooks).toEqual({
      github: { actor: 'service:github', secretEnvs: ['G'], secrets: ['g'] },
      standard: { actor: 'service:builds', secretEnvs: ['A', 'B'], secrets: ['a', 'b'] },
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
      webhooks: { github: null, standard: { actor: 'service:webhook', secretEnvs: ['A', 'B'], secrets: [] } },
      unset: ['CI', 'A', 'B'],
    });
  });

  test.each([
    ['a token in the file itself', { tokens: [{ principal: 'service:ci', token: 'secret' }] }, /tokens\.0/],
    [
      'a name that is no principal',
      { tokens: [{ principal: 'ci', tokenEnv: 'CI' }] },
      /expected a principal such as service:ci/,
    ],
    ['a list of no variables', { webhooks: { standard: { secretEnv: [] } } }, /webhooks\.standard\.secretEnv/],
    ['an unknown kind of webhook', { webhooks: { gitlab: { secretEnv: 'G' } } }, /webhooks: .*gitlab/],
  ])('%s is refused with its path', (_what, value, message) => expect(() => access(value)).toThrow(message));
});
