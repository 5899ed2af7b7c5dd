"""What hosts share that load an extension of pi's kind and keep sessions in pi's form."""
