import { listPage } from '../../client/webUi';
import { stackEnvironment, usualAddresses } from '../stack/addresses';
import type { ConfigStack } from '../stack/configuration';
import type { Ready } from '../stack/readyFile';
import type { Stack } from '../stack/stack';
import { alignRows } from './columns';
import { foldAll, paint, type View } from './paint';

/** Where everything is, and what to type next. */
export function stackText(
  ready: Ready,
  stack: Stack,
  namespace: string,
  more: Readonly<Record<string, string>>,
  view: View,
): string {
  const colors = paint(view.color);
  const pids = Object.entries(ready.pids)
    .map(([part, pid]) => `${part} ${pid}`)
    .join(', ');
  const rows = [
    ['Temporal', ready.temporal],
    ['Web UI', colors.underline(listPage(ready.webUi, namespace))],
    ['Simulator', ready.simulator],
    ['Server', ready.server],
    ['Task queue', ready.taskQueue],
    ...(stack.config ? configRows(stack.config) : []),
    ...(pids === '' ? [] : [['Processes', pids]]),
    ['Logs', stack.logFolder],
  ].map(([name = '', value = '']) => [`  ${colors.bold(name)}`, value]);
  // At addresses of their own the next commands find nothing by themselves.
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

/** From the first limit to what a host reads. */
const configCommands = ({ repository: { name }, proxy }: ConfigStack): string[] => [
  'conveyor apply examples/config/pipeline.yaml',
  `conveyor config propose examples/config/flags --repository ${name} -m 'Limit feeds'`,
  'conveyor status feed-limits',
  `curl -s ${proxy}/v1/config/feed/limits`,
];
