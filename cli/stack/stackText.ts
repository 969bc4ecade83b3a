import { listPage } from '../../client/webUi';
import { alignRows } from '../../render/columns';
import { foldAll, paint, type View } from '../../render/paint';
import { stackEnvironment, usualAddresses } from './addresses';
import type { ConfigStack } from './configuration';
import type { Ready } from './readyFile';
import type { Stack } from './stack';

/** The addresses of all parts, and the next commands to type. */
export function stackText(
  ready: Ready,
  stack: Stack & { readonly signInLink?: string | undefined },
  namespace: string,
  more: Readonly<Record<string, string>>,
  view: View,
): string {
  const colors = paint(view.color);
  const pids = Object.entries(ready.pids)
    .map(([part, pid]) => `${part} ${pid}`)
    .join(', ');
  const rows = [
    ['Pages', colors.underline(`${ready.server}/`)],
    ['Temporal', ready.temporal],
    ['Web UI', colors.underline(listPage(ready.webUi, namespace))],
    ['Simulator', ready.simulator],
    ['Server', ready.server],
    ...(stack.signInLink === undefined
      ? []
      : [['Sign in', `${colors.underline(stack.signInLink)} (once, within ten minutes)`]]),
    ['Task queue', ready.taskQueue],
    ...(stack.config ? configRows(stack.config) : []),
    ...(pids === '' ? [] : [['Processes', pids]]),
    ['Logs', stack.logFolder],
  ].map(([name = '', value = '']) => [`  ${colors.bold(name)}`, value]);
  // With unusual addresses, the next commands need these variables.
  const isElsewhere = stack.addresses.temporal !== usualAddresses({}, {}).temporal;
  const environment = Object.entries({
    ...(isElsewhere ? stackEnvironment(stack) : {}),
    ...more,
  });
  const next = [
    ...(environment.length > 0 ? [`export ${environment.map(([name, value]) => `${name}=${value}`).join(' ')}`] : []),
    ...(stack.config ? configCommands(stack.config) : KVSTORE_COMMANDS),
    'conveyor list releases',
  ];
  return [
    '',
    ...foldAll(alignRows(rows), view),
    '',
    `${colors.bold('Next')}, in another terminal (Ctrl-C here stops everything)`,
    ...next.map((line) => `  ${colors.cyan(line)}`),
  ].join('\n');
}

const KVSTORE_COMMANDS = [
  'conveyor apply examples/kvstore/pipeline.yaml',
  'conveyor release kvstore --artifact source=12 --wait',
];

const configRows = ({ repository, service, proxy }: ConfigStack): [string, string][] => [
  ['Repository', `${repository.name}: ${repository.git}`],
  ['etcd', repository.etcd],
  ['Config service', service],
  ['Config proxy', proxy],
];

/** The commands from a first limit to its value on a host. */
const configCommands = ({ repository: { name }, proxy }: ConfigStack): string[] => [
  'conveyor apply examples/config/pipeline.yaml',
  `conveyor config propose examples/config/flags --repository ${name} -m 'Limit feeds'`,
  'conveyor status feed-limits',
  `curl -s ${proxy}/v1/config/feed/limits`,
];
