import type { DeployStatus } from '../../domain/views';
import { alignRows, paint, table, tint, type View } from '../render/paint';
import { deployWord, took } from '../render/words';
import type { DemoResult } from './story';
import type { JobView } from './world';

/** How it ended: each deploy with its verdict, and what the fleet runs now. */
export function renderSummary({ deploys, releases, jobs }: DemoResult, view: View): string {
  const colors = paint(view.color);
  const rows = deploys.map((deploy) => {
    const { word, sign } = deployWord(deploy);
    return [
      colors.bold(deploy.id),
      deploy.version,
      tint(colors, sign.tone, `${sign.glyph} ${word}`),
      took(deploy.startedAt, deploy.endedAt, view),
      evidenceOf(deploy),
    ];
  });
  const links = [...releases, ...deploys].map(({ id, webUi }) => [`  ${id}`, colors.underline(webUi)]);
  return [
    table(['DEPLOY', 'VERSION', 'OUTCOME', 'TOOK', 'WHY'], rows, 'nothing was deployed', {
      ...view,
      width: Math.max(view.width, 100),
    }),
    '',
    colors.bold('The fleet now'),
    ...alignRows(jobs.map((job) => [`  ${job.name}`, versionWords(job)])),
    '',
    colors.bold('In the Temporal Web UI'),
    ...alignRows(links),
  ].join('\n');
}

/** The unhealthy verdict that ended it, else that all was well. */
function evidenceOf(deploy: DeployStatus): string {
  const broken = deploy.health.find((row) => row.verdict === 'unhealthy');
  if (broken) return `${broken.check} of ${broken.unit}: ${broken.reason}`;
  return deploy.outcome === 'succeeded' ? 'all checks healthy' : deploy.summary;
}

const versionWords = (job: JobView): string =>
  Object.entries(job.versions)
    .filter(([, count]) => count > 0)
    .map(([version, count]) => `${count} of ${job.size} tasks on ${version}`)
    .join(', ');
