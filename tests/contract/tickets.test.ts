import { viaApp } from '../../sdk/client';
import { TICKET_CHECKS } from '../../sdk/conform/tickets';
import { givenFleet } from '../builders/simulatorFleet';
import { describeSuite } from './suite';

describeSuite('tickets of the simulated tracker', TICKET_CHECKS, async () => ({
  ...{ fetch: viaApp(givenFleet().app), url: 'http://simulator/tickets' },
  ...{ keys: 'suite', assignee: 'group:storage' },
}));
