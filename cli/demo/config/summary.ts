import { paint, wrap, type View } from '../../../render/paint';
import { deployTable, webUiLinks } from '../summary';
import type { DemoResult } from '../demo';
import { PATH, type HostCounts } from './world';

export interface ConfigDemoResult extends DemoResult {
  /** A description of the store. */
  readonly store: string;
  /** The answer of the schema owner's invariant to the first limits. */
  readonly refused: string;
  readonly hosts: HostCounts;
}

/** The deploys of a configuration, the reason for the last revert, and the present values on hosts. */
export function renderConfigDemo(result: ConfigDemoResult, view: View): string {
  const { deploys, hosts, store } = result;
  const colors = paint(view.color);
  const last = deploys.at(-1);
  const why = last === undefined ? [] : wrap(last.revert?.reason ?? last.summary, Math.max(20, view.width - 4));
  return [
    deployTable(deploys, view),
    '',
    colors.bold('Why the second change was taken back'),
    ...why.map((line) => `  ${line}`),
    '',
    colors.bold('The hosts now'),
    `  ${hosts.committed} of ${hosts.total} have the ${PATH} that was committed; the bad limit never was (${store})`,
    '',
    ...webUiLinks(result, view),
  ].join('\n');
}
