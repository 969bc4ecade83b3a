import { redactUrl } from '../../domain/redactUrl';
import { formatDuration, formatTime } from '../../domain/text';
import type { SettingsGroup } from '../../pages/models';
import type { ConfigRepositorySettings } from '../../settings/configRepositories';
import type { SlackSettings } from '../../settings/slack';
import type { Issuer } from '../../settings/signIn';
import { getReadPolicy, type ServerDeps } from '../deps';

type SettingsSource = Pick<ServerDeps, 'config' | 'reads' | 'configState' | 'limits' | 'archive' | 'audit'>;

/**
 * The settings that a server uses at present. Each value is named here, so that a new secret does not appear by itself;
 * addresses are shown without what may be a secret in them.
 */
export const listSettings = (source: SettingsSource): readonly SettingsGroup[] =>
  [
    listFile(source),
    listAccess(source),
    listSignIn(source),
    listWebhooks(source),
    listConfiguredGroups(source),
    ...source.config.configRepositories.map(listRepository),
    listIntervals(source),
    listRequestQueues(source),
  ].filter(({ rows }) => rows.length > 0);

type Rows = SettingsGroup['rows'];
const yesOrNo = (is: boolean): string => (is ? 'yes' : 'no');
const listWords = (words: readonly string[]): string => (words.length === 0 ? '–' : words.join(', '));

function listFile({ configState, archive, audit }: SettingsSource): SettingsGroup {
  const state = configState?.();
  const rows: Rows = [
    ...(state === undefined
      ? []
      : ([
          ['read at', formatTime(state.readAtMs)],
          ['problem of its present content', state.problem ?? 'none'],
        ] as const)),
    ['archive', yesOrNo(archive !== undefined)],
    ['audit', yesOrNo(audit !== undefined)],
  ];
  return { name: 'conveyor.config.yaml', rows };
}

function listAccess({ config, reads }: SettingsSource): SettingsGroup {
  const { access, callbacks, slack } = config;
  return {
    name: 'access',
    rows: [
      ['reads', getReadPolicy({ config, reads })],
      ['tokens of', listWords(access.tokens.map(({ principal }) => principal))],
      ['variables that are not set', listWords(access.unset)],
      ['callbacks', callbacks === null ? 'none: services are only polled' : redactUrl(callbacks.url)],
      ...(slack == null ? [] : ([['people of Slack', describeSlackPeople(slack)]] as const)),
      ['services that page people', listWords(Object.keys(access.pagers))],
    ],
  };
}

const describeSlackPeople = ({ users, emails }: SlackSettings): string =>
  [
    `${Object.keys(users).length} by their ids`,
    ...(emails === null ? [] : [`those of ${emails.team} at ${listWords(emails.domains)} as ${emails.principal}`]),
  ].join(', ');

function listSignIn({ config: { issuers, sessions } }: SettingsSource): SettingsGroup {
  return {
    name: 'signIn and sessions',
    rows: [
      ['address of the pages', sessions.url ?? 'only names of this machine'],
      [
        'secrets of sessions',
        sessions.secrets.length === 0 ? 'none: sessions end with the server' : `${sessions.secrets.length}`,
      ],
      ...issuers.map((issuer) => [issuer.issuer, describeIssuer(issuer)] as const),
    ],
  };
}

const describeIssuer = ({ audience, client, principal, groups, pages }: Issuer): string =>
  [
    `people are ${principal}`,
    groups === null ? 'groups of the settings alone' : `groups by the claim ${groups}`,
    ...(audience === null ? [] : [`audience ${audience}`]),
    ...(client === null ? [] : [`client of the command line ${client}`]),
    ...(pages === null ? [] : [`client of the pages ${pages.client}`]),
  ].join('; ');

const listWebhooks = ({ config: { access } }: SettingsSource): SettingsGroup => ({
  name: 'webhooks',
  rows: Object.entries(access.webhooks).flatMap(([kind, sources]) =>
    sources.map(
      ({ name, actor, secretEnvs, scope }) =>
        [
          name === kind ? kind : `${kind} ${name}`,
          `acts as ${actor}; secrets in ${listWords(secretEnvs)}; ${scope === null ? 'for every repository' : 'with a scope'}`,
        ] as const,
    ),
  ),
});

const listConfiguredGroups = ({ config: { groups } }: SettingsSource): SettingsGroup => ({
  name: 'groups',
  rows: Object.entries(groups).map(([name, members]) => [`group:${name}`, listWords(members)] as const),
});

const listRepository = ({
  name,
  git,
  branch,
  etcd,
  owners,
  login,
  tls,
  signing,
}: ConfigRepositorySettings): SettingsGroup => ({
  name: `config.repositories.${name}`,
  rows: [
    ['git', /^[a-z+]+:\/\//.test(git) ? redactUrl(git) : git.replace(/^[^@/]*@/, '')],
    ['branch', branch],
    ['store', etcd === null ? 'none' : etcd.split(',').map(redactUrl).join(', ')],
    ['user of the store', login?.user ?? '–'],
    ['TLS to the store', yesOrNo(tls !== undefined)],
    ['signed values', yesOrNo(signing !== undefined)],
    ['owners', owners === undefined ? 'admins alone' : listWords(owners)],
  ],
});

const listIntervals = ({ config: { settings } }: SettingsSource): SettingsGroup => ({
  name: 'settings',
  rows: Object.entries(settings ?? {}).map(
    ([name, ms]: [string, number]) => [name.replace(/Ms$/, ''), formatDuration(ms)] as const,
  ),
});

const listRequestQueues = ({ limits: { bodyBytes: _, ...queues } }: SettingsSource): SettingsGroup => ({
  name: 'queues of requests',
  rows: Object.entries(queues).map(
    ([name, { inFlight, waiting, waitMs }]) =>
      [name, `${inFlight} at once, ${waiting} wait, for ${formatDuration(waitMs)}`] as const,
  ),
});
