import { parseRegistry } from '../../settings/registry';

const SECRETS = { SIGNING: 'a signing secret of an app, long enough', BOT: 'xoxb-a-token-of-the-bot-of-the-app' };
const EMAILS = { team: 'T012AB3CD', domains: ['example.com'] };
const read = (slack: object) =>
  parseRegistry({ extensions: [], slack: { secretEnv: 'SIGNING', tokenEnv: 'BOT', ...slack } }, SECRETS).slack;

test('people of Slack are known by their ids, by their addresses, or both', () => {
  const users = { U012AB3CD: 'user:alice' };
  expect(read({ users })).toMatchObject({ users, emails: null });
  expect(read({ emails: EMAILS })).toMatchObject({ users: {}, emails: { ...EMAILS, principal: 'user:{email}' } });
  expect(read({ users, emails: { ...EMAILS, principal: 'user:{name}' } })).toMatchObject({
    ...{ users, emails: { principal: 'user:{name}' } },
  });
});

test.each<[string, object, RegExp]>([
  ['that knows no person', {}, /says who clicks/],
  ['with an id that is none', { users: { alice: 'user:alice' } }, /expected the id of a user/],
  ['with a group for a person', { users: { U012AB3CD: 'group:sre' } }, /name a user/],
  ['with a workspace that is none', { emails: { ...EMAILS, team: 'acme' } }, /expected the id of a workspace/],
  ['with no domain', { emails: { ...EMAILS, domains: [] } }, /domains/],
  ['with an address for a domain', { emails: { ...EMAILS, domains: ['bob@example.com'] } }, /expected a domain/],
  ['with all domains', { emails: { ...EMAILS, domains: ['*'] } }, /expected a domain/],
  ['with one principal for all', { emails: { ...EMAILS, principal: 'user:alice' } }, /principal/],
  [
    'with a name that may be of two people',
    { emails: { ...EMAILS, domains: ['example.com', 'example.org'], principal: 'user:{name}' } },
    /two people/,
  ],
])('a file is refused %s', (_title, slack, message) => {
  expect(() => read(slack)).toThrow(message);
});
