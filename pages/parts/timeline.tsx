import type { TimelineEntry } from '../../domain/views';
import { commandText, type CommandRecord } from '../../domain/verbs';
import type { View } from '../../render/paint';
import { More, Section } from './section';
import { ClockTime, Prose } from './text';

const MOST_ENTRIES = 80;

/** Events, the newest first. */
export function Timeline({ entries, view }: { readonly entries: readonly TimelineEntry[]; readonly view: View }) {
  const shown = [...entries].reverse().slice(0, MOST_ENTRIES);
  return (
    <Section id="timeline" title="Timeline">
      {shown.length === 0 ? <p class="empty">Nothing is recorded yet.</p> : null}
      <ol class="timeline">
        {shown.map(({ at, kind, text }) => (
          <li>
            <ClockTime iso={at} view={view} />
            <div>
              <b>{kind}</b> <Prose text={text} />
            </div>
          </li>
        ))}
      </ol>
      <More count={entries.length - shown.length} noun="earlier entries" />
    </Section>
  );
}

const MOST_COMMANDS = 40;

/** Who did what, the newest first, refusals included; nothing without a command. */
export function CommandLog({ commands, view }: { readonly commands: readonly CommandRecord[]; readonly view: View }) {
  if (commands.length === 0) return null;
  const shown = [...commands].reverse().slice(0, MOST_COMMANDS);
  return (
    <Section id="commands" title="Commands">
      <ol class="timeline">
        {shown.map((command) => (
          <li>
            <ClockTime iso={command.at} view={view} />
            <div>
              <Prose text={commandText(command)} />
            </div>
          </li>
        ))}
      </ol>
      <More count={commands.length - shown.length} noun="earlier commands" />
    </Section>
  );
}
