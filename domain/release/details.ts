import type { ActionState, ReleaseStatus } from '../views';

const GLYPHS: Readonly<Record<ActionState, string>> = {
  waiting: '◷',
  blocked: '◷',
  running: '◌',
  succeeded: '✔',
  failed: '✖',
  cancelled: '✖',
  skipped: '–',
};

/** The current details of a release in the Temporal Web UI (DESIGN §4 rule 12). */
export function releaseDetails(status: Omit<ReleaseStatus, 'webUi'>): string {
  const artifacts = status.artifacts.map(({ name, version }) => `\`${name}@${version}\``).join(', ');
  const rows = status.actions.map(
    ({ name, type, state, blockedBy, message }) =>
      `| ${GLYPHS[state]} ${name} | ${type} | ${state} | ${blockedBy ?? message ?? ''} |`,
  );
  const steps = status.timeline.slice(-8).map(({ at, text }) => `- ${at} ${text}`);
  return [
    `## ${status.id}`,
    `**${status.state}${status.cause ? `: ${status.cause}` : ''}** — ${artifacts}, by ${status.trigger.actor}`,
    ['| Action | Type | State | Why |', '|-|-|-|-|', ...rows].join('\n'),
    steps.join('\n'),
    status.endedAt === null ? `Next:\n\`\`\`\nconveyor watch ${status.id}\n\`\`\`` : '',
  ]
    .filter((section) => section !== '')
    .join('\n\n')
    .slice(0, MAX_DETAILS);
}

const MAX_DETAILS = 16_000;
