import type { DeployStatus, PhaseState } from '../views';

/** The current details of a deploy in the Temporal Web UI: Markdown for a person who has only this page (DESIGN §4 rule 12). */
export function deployDetails(status: Omit<DeployStatus, 'webUi'>): string {
  const sections = [
    `## ${status.id} → ${status.version}`,
    `**${status.state}${status.outcome ? `: ${status.outcome}` : ''}** — ${status.summary}`,
    phaseTable(status),
    healthTable(status),
    lastSteps(status),
    status.next.length > 0 ? ['Next:', '```', ...status.next, '```'].join('\n') : '',
  ];
  return sections
    .filter((section) => section !== '')
    .join('\n\n')
    .slice(0, MAX_DETAILS);
}

/** The server keeps at most 20,000 bytes of details; most of the text is ASCII. */
const MAX_DETAILS = 16_000;
const MAX_ROWS = 12;

const GLYPHS: Readonly<Record<PhaseState, string>> = {
  waiting: '◷',
  running: '◌',
  succeeded: '✔',
  skipped: '–',
  failed: '✖',
  reverted: '↩',
};

function phaseTable({ phases }: Pick<DeployStatus, 'phases'>): string {
  if (phases.length === 0) return '';
  const rows = phases.map((phase) => {
    const targeted = phase.units.reduce((total, unit) => total + unit.targeted, 0);
    const live = phase.units.reduce((total, unit) => total + unit.live, 0);
    const baked = phase.bakedAt ?? (phase.bakeUntil ? `until ${phase.bakeUntil}` : '');
    return `| ${GLYPHS[phase.state]} ${phase.name} | ${phase.scope} | ${phase.amount} | ${live}/${targeted} | ${baked} | ${phase.skipped ?? ''} |`;
  });
  return ['| Phase | Scope | Amount | Live | Baked | Skipped |', '|-|-|-|-|-|-|', ...rows].join('\n');
}

function healthTable({ health }: Pick<DeployStatus, 'health'>): string {
  if (health.length === 0) return '';
  const rows = health
    .slice(0, MAX_ROWS)
    .map((row) => `| ${row.unit} | ${row.check} | ${row.verdict} | ${row.reason} |`);
  return ['| Unit | Check | Verdict | Why |', '|-|-|-|-|', ...rows].join('\n');
}

const lastSteps = ({ timeline }: Pick<DeployStatus, 'timeline'>): string =>
  timeline
    .slice(-8)
    .map((entry) => `- ${entry.at} ${entry.text}`)
    .join('\n');
