import { onSettle } from './answers';
import type { Configerator } from './configerator';
import type { ConfigDue } from './events';
import { liftConfigFault } from './faults';
import { onCommit, onTail } from './repository';
import { onAcknowledge, onConnect, onDeliver, onPushed } from './tree';

/** Handles an event of configuration that is due. */
export function handleConfig(it: Configerator, event: ConfigDue): void {
  const isCurrent = (host: number, epoch: number): boolean => it.state.hosts.epoch[host] === epoch;
  switch (event.kind) {
    case 'config-observer':
      return onPushed(it, event.observer, event.epoch, event.upTo);
    case 'config-connect':
      if (isCurrent(event.host, event.epoch)) onConnect(it, event.host);
      return;
    case 'config-deliver':
      if (isCurrent(event.host, event.epoch)) onDeliver(it, event.host);
      return;
    case 'config-acknowledge':
      return onAcknowledge(it, event.observer);
    case 'config-fault-over':
      liftConfigFault(it, event.fault);
      return;
    case 'config-settle':
      return onSettle(it);
    case 'config-step':
      it.isStepDue = true;
      return;
    case 'config-commit':
      return onCommit(it, event.repository, event.change);
    case 'config-tail':
      return onTail(it, event.repository);
  }
}
