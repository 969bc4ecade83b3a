import { plural } from '../../domain/text';
import type { DeployStatus } from '../../domain/views';
import { alignRows, table } from '../../render/columns';
import { foldAll, paint, tint, wrap, type View } from '../../render/paint';
import { took } from '../../render/times';
import { deployWord } from '../../render/words';
import type { ListedJob } from '../simulator';
import type { DemoResult } from './demo';

export interface ServiceDemoResult extends DemoResult {
  readonly jobs: readonly ListedJob[];
}

/** The deploys of a service with their verdicts, and the present versions of the fleet. */
export function renderServiceDemo({ deploys, releases, jobs }: ServiceDemoResult, view: View): string {
  const colors = paint(view.color);
  return [
    deployTable(deploys, view),
    '',
    ...deploys.flatMap((deploy) => revertEvidence(deploy, view)),
    colors.bold('The fleet now'),
    ...alignRows(jobs.map((job) => [`  ${job.name}`, versionWords(job)])),
    '',
    ...webUiLinks({ deploys, releases }, view),
  ].join('\n');
}

export function deployTable(deploys: readonly DeployStatus[], view: View): string {
  const colors = paint(view.color);
  const rows = deploys.map((deploy) => {
    const { word, sign } = deployWord(deploy);
    const outcome = tint(colors, sign.tone, `${sign.glyph} ${word}`);
    return [colors.bold(deploy.id), deploy.version, outcome, took(deploy.startedAt, deploy.endedAt, view)];
  });
  return table(['DEPLOY', 'VERSION', 'OUTCOME', 'TOOK'], rows, 'nothing was deployed', view);
}

export function webUiLinks({ releases, deploys }: DemoResult, view: View): string[] {
  const colors = paint(view.color);
  const links = [...releases, ...deploys].map(({ id, webUi }) => [`  ${id}`, colors.underline(webUi)]);
  return [colors.bold('In the Temporal Web UI'), ...foldAll(alignRows(links), view)];
}

/** The full unhealthy verdict that caused a revert. */
function revertEvidence(deploy: DeployStatus, view: View): string[] {
  const broken = deploy.health.find((row) => row.verdict === 'unhealthy');
  if (broken === undefined) return [];
  const reason = wrap(`${broken.unit}: ${broken.reason}`, Math.max(20, view.width - 4)).map((line) => `  ${line}`);
  return [paint(view.color).bold(`Why ${deploy.version} was taken back`), ...reason, ''];
}

const versionWords = (job: ListedJob): string =>
  Object.entries(job.versions)
    .filter(([, count]) => count > 0)
    .map(([version, count]) => `${count} of ${plural(job.size, 'task')} on ${version}`)
    .join(', ');
