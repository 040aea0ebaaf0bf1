-- A panel's kind is called what its JSON calls it.

UPDATE surveys SET kind = 'panel' WHERE kind = 'adaptive';
